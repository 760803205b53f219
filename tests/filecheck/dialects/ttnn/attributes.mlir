// RUN: xdsl-opt %s | xdsl-opt | filecheck %s

// CHECK:      %device = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 2x4>}> : () -> !ttnn.device
%device = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 2x4>}> : () -> !ttnn.device
// CHECK-NEXT: "ttnn.full"() <{shape = #ttnn.shape<2x3>, fill_value = 1.500000e+00 : f32}> : () -> tensor<2x3xf32>
%0 = "ttnn.full"() <{shape = #ttnn.shape<2x3>, fill_value = 1.500000e+00 : f32}> : () -> tensor<2x3xf32>
// CHECK-NEXT: "ttnn.zeros"() <{shape = #ttnn.shape<>}> : () -> tensor<f32>
%1 = "ttnn.zeros"() <{shape = #ttnn.shape<>}> : () -> tensor<f32>
// CHECK-NEXT: "ttnn.repeat"(%0) <{repeat_dims = #ttnn.shape<1x2>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
%2 = "ttnn.repeat"(%0) <{repeat_dims = #ttnn.shape<1x2>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
