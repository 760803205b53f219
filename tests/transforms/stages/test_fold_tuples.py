"""`fold-tuples`: what the program packs itself is taken apart, other tuples stay."""

from tests.transforms.run_pass import run_passes

T, U = "tensor<4xf32>", "tensor<2xi32>"
PAIR = f"tuple<{T}, {U}>"
NESTED = f"tuple<{PAIR}, {T}>"


def test_elements_of_nested_tuples_are_what_was_packed():
    text = f"""func.func @main(%a: {T}, %b: {U}) -> ({U}, {T}) {{
  %0 = stablehlo.tuple %a, %b : {PAIR}
  %1 = stablehlo.tuple %0, %a : {NESTED}
  %2 = stablehlo.get_tuple_element %1[0] : ({NESTED}) -> {PAIR}
  %3 = stablehlo.get_tuple_element %2[1] : ({PAIR}) -> {U}
  %4 = stablehlo.get_tuple_element %1[1] : ({NESTED}) -> {T}
  return %3, %4 : {U}, {T}
}}"""
    result = run_passes(text, "fold-tuples")
    assert "tuple" not in result
    assert "return %b, %a" in result


def test_a_tuple_that_is_used_otherwise_stays():
    text = f"""func.func @main(%a: {T}, %b: {U}, %c: {PAIR}) -> ({PAIR}, {T}, {U}) {{
  %0 = stablehlo.tuple %a, %b : {PAIR}
  %1 = stablehlo.get_tuple_element %0[0] : ({PAIR}) -> {T}
  %2 = stablehlo.get_tuple_element %c[1] : ({PAIR}) -> {U}
  return %0, %1, %2 : {PAIR}, {T}, {U}
}}"""
    result = run_passes(text, "fold-tuples")
    assert "return %0, %a, %1" in result
    assert "get_tuple_element %c[1]" in result
