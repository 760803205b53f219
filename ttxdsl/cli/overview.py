"""The screen that `ttxdsl` alone prints: the questions that commands answer."""

QUESTIONS = {
    "run": "What do my shardings cost, and are the numbers right?",
    "why": "Why is there this collective, and who caused it?",
    "plan": "Does it fit on the chips, and how fast is a step?",
    "doctor": "What should I write instead?",
    "report": "How does it look? (one HTML page: graph, memory, timeline)",
    "diff": "What did my change do to the collectives?",
    "budget": "Does it stay within the bytes that I allow? (for CI)",
    "check": "Which stage changes the numbers?",
    "show": "How is each value laid out on the devices?",
    "compile": "What does each stage make of it? (StableHLO, ttir, ttnn)",
    "interpret": "What does a program compute on one device?",
    "compare-xla": "How does XLA's partitioner do on the same program?",
    "compare-tt": "Does the real tt-mlir compile it to the same?",
    "bench": "How long do compiling and simulating take?",
    "calibrate": "What are the figures of my own machine?",
    "completion": "How does my shell complete all this?",
}
"""The question that each command answers, the most frequent first."""


def overview() -> str:
    """Return one screen: questions, commands, and how to begin."""
    width = max(map(len, QUESTIONS))
    rows = [f"  {name:{width}}  {question}" for name, question in QUESTIONS.items()]
    return "\n".join(
        (
            "ttxdsl compiles sharded StableHLO programs and answers questions about them.",
            "",
            *rows,
            "",
            "Begin:     ttxdsl run FILE     MLIR text or bytecode, or FILE.py:FUNCTION",
            "From JAX:  open('step.mlir', 'w').write("
            "jax.jit(f).lower(…).as_text(debug_info=True))",
            "Options:   ttxdsl COMMAND --help",
        )
    )
