"""What the lowering asks about a value costs the same wherever the value is."""

from tests.transforms.collectives.repeated import growth
from tests.work import calls
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir
from ttxdsl.loading.program import parse_program


def test_whether_a_value_is_a_constant_behind_many_broadcasts():
    type_ = "tensor<8xf32>"

    def work(count: int) -> int:
        lines = [
            f"%{i + 1} = stablehlo.broadcast_in_dim %{i}, dims = [0] : ({type_}) -> {type_}"
            for i in range(count)
        ]
        text = f"""func.func @main(%0: {type_}) -> {type_} {{
          {" ".join(lines)}
          return %{count} : {type_}
        }}"""
        module = parse_program(text)
        return calls(lambda: convert_stablehlo_to_ttir(module))

    assert growth(work, 50) < 4.05
