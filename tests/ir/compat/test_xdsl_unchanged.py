"""What the mends that make xDSL faster take the place of, or rely on, as it was read.

Such a mend repeats what some xDSL functions mean. When one of them changes, its test
here fails: read the change, see whether the mend is still right and still needed, then
note the new digest, which the failure shows.
"""

import json
import subprocess
import sys

import pytest

READ = {
    # compat/lexing.py
    "xdsl.utils.mlir_lexer:MLIRLexer": "d8db1c41b8e2",
    "xdsl.utils.lexer:Token": "ecc97636c5b1",
    "xdsl.utils.lexer:Span": "f63797109412",
    "xdsl.parser.generic_parser:GenericParser.parse_optional_characters": "0a89f08c5ddc",
    # compat/lines.py
    "xdsl.parser:Parser._parse_block_body": "0a3ecae1f98f",
    "xdsl.parser:Parser.parse_optional_operation": "54270e68ec90",
    "xdsl.parser:Parser.parse_operation": "028027bf1e0a",
    "xdsl.parser:Parser._parse_generic_operation": "579d12261046",
    "xdsl.parser:Parser.resolve_operand": "18218dcebd15",
    "xdsl.parser:Parser._register_ssa_definition": "818a41c07a14",
    "xdsl.ir:Operation.create": "7521db18ad68",
    "xdsl.ir:Operation.__init__": "057dbddc4ef8",
    "xdsl.ir.core:IRWithName": "ee95939dd462",
    "xdsl.ir:Region.clone": "45c50e0d306a",
    # compat/operations.py
    "xdsl.ir:Operation.operands.fset": "1b7661a279ae",
    "xdsl.ir:Operation.successors.fset": "3ebab49fa3bb",
    "xdsl.ir:Operation.__post_init__": "68ed9fbafe8c",
    "xdsl.ir:OpResult": "24779eeeb5f5",
    "xdsl.ir:Use": "af31062fec39",
    "xdsl.irdl:IRDLOperation.__post_init__": "5b7289927221",
    "xdsl.ir.core:IRWithUses.add_use": "be558fc62354",
    "xdsl.ir.core:OpOperands.__getitem__": "50eaf5292c26",
    "xdsl.ir.core:SSAValues.__getitem__": "8641769dc39d",
    "xdsl.ir.core:_IRNode.__hash__": "5d525e8c9c30",
    "xdsl.ir.core:_IRNode.__eq__": "42a1bc532c98",
    "xdsl.ir:SSAValue.__hash__": "defc5bc4e1a6",
    "xdsl.ir:SSAValue.__eq__": "42a1bc532c98",
    "xdsl.irdl:IRDLOperation.__hash__": "5d525e8c9c30",
    "xdsl.irdl:IRDLOperation.__eq__": "42a1bc532c98",
    "xdsl.ir:Operation.operands.fget": "628aa27aa9c8",
    "xdsl.ir:SSAValue.erase": "21679d4ad047",
    "xdsl.ir:SSAValue.replace_all_uses_with": "b02d4136806b",
    "xdsl.ir:Block.add_op": "bbe369f334ce",
    "xdsl.ir:Block.insert_op_after": "39bca821fd47",
    "xdsl.ir:Block._attach_op": "bad0a10fd5e4",
    "xdsl.ir:Operation._insert_next_op": "653c333fe957",
    # compat/cloning.py
    "xdsl.ir:Region.clone_into": "7b429dcf9781",
    # compat/types.py
    "xdsl.parser:AttrParser.parse_optional_type": "f338ffd02bdf",
    "xdsl.parser:AttrParser._parse_tensor_attrs": "c8e44e3315ec",
    "xdsl.parser:AttrParser.parse_ranked_shape": "7790d12c488b",
    "xdsl.dialects.builtin:TensorType.get_shape": "fbb0a32842be",
    # compat/printing.py
    "xdsl.printer:Printer.print_op": "7ea7c04bdc15",
    "xdsl.printer:Printer.print_op_with_default_format": "1496bf9e717d",
    "xdsl.printer:Printer._print_results": "843991a148d2",
    "xdsl.printer:Printer.print_attribute": "dcb4fade9403",
    "xdsl.dialects.builtin:TensorType.print_builtin": "36c0d24f3b66",
    # compat/linear.py
    "xdsl.traits:SymbolTable.lookup_symbol": "82e0e8ad6186",
    "xdsl.ir:Operation.emit_error": "033544fbc6b4",
    "xdsl.ir.core:_IRNode.is_ancestor": "bb895e8a1d89",
    "xdsl.traits:IsolatedFromAbove.verify": "8fd113120422",
    "xdsl.transforms.dead_code_elimination:LiveSet": "67d118011252",
    "xdsl.transforms.dead_code_elimination:region_dce": "4aaf7f90b482",
    # compat/aliases.py
    "xdsl.parser:Parser._parse_alias_def": "880cab42892f",
    # ir/verify_once.py
    "xdsl.ir:Operation.verify": "00ad60dfd578",
    "xdsl.irdl.operations:OpDef.verify": "29961dbe29f2",
}

DIGESTS = """
import hashlib, importlib, inspect, json, sys
answer = {}
for name in json.load(sys.stdin):
    module, _, path = name.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    text = inspect.getsource(found).encode()
    answer[name] = hashlib.sha256(text).hexdigest()[:12]
print(json.dumps(answer))
"""


@pytest.fixture(scope="module")
def digests() -> dict[str, str]:
    """Of xDSL's own sources, read in a process without our mends."""
    answer = subprocess.run(
        [sys.executable, "-c", DIGESTS],
        input=json.dumps(list(READ)),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout)


@pytest.mark.parametrize("name", READ)
def test_xdsl_is_as_it_was_read(digests: dict[str, str], name: str):
    assert digests[name] == READ[name]
