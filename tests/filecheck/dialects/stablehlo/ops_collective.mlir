// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// Every op of the family collective, in both forms.

// CHECK-LABEL: @all_gather(
// CHECK:      %{{.*}} = "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
func.func @all_gather(%0: tensor<4x6xf32>) {
  %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x6xf32>) -> tensor<4x12xf32>
  func.return
}

// CHECK-LABEL: @all_reduce(
// CHECK:      %{{.*}} = "stablehlo.all_reduce"(%{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %{{.*}} = stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<f32>
// CHECK-NEXT: }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
func.func @all_reduce(%0: tensor<4x6xf32>) {
  %1 = "stablehlo.all_reduce"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @all_to_all(
// CHECK:      %{{.*}} = "stablehlo.all_to_all"(%{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x6xf32>) -> tensor<2x12xf32>
func.func @all_to_all(%0: tensor<4x6xf32>) {
  %1 = "stablehlo.all_to_all"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x6xf32>) -> tensor<2x12xf32>
  func.return
}

// CHECK-LABEL: @collective_broadcast(
// CHECK:      %{{.*}} = "stablehlo.collective_broadcast"(%{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
func.func @collective_broadcast(%0: tensor<4x6xf32>) {
  %1 = "stablehlo.collective_broadcast"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @collective_permute(
// CHECK:      %{{.*}} = "stablehlo.collective_permute"(%{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
func.func @collective_permute(%0: tensor<4x6xf32>) {
  %1 = "stablehlo.collective_permute"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @collective_reduce(
// CHECK:      %{{.*}} = "stablehlo.collective_reduce"(%{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %{{.*}} = stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<f32>
// CHECK-NEXT: }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
func.func @collective_reduce(%0: tensor<4x6xf32>) {
  %1 = "stablehlo.collective_reduce"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @cross_replica_sum(
// CHECK:      %{{.*}} = "stablehlo.cross-replica-sum"(%{{.*}}) <{replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
func.func @cross_replica_sum(%0: tensor<4x6xf32>) {
  %1 = "stablehlo.cross-replica-sum"(%0) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @infeed(
// CHECK:      %{{.*}}, %{{.*}} = "stablehlo.infeed"(%{{.*}}) <{infeed_config = "", layout = {{\[\[}}0 : i64]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
func.func @infeed(%0: !stablehlo.token) {
  %1, %2 = "stablehlo.infeed"(%0) <{infeed_config = "", layout = [[0 : i64]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  func.return
}

// CHECK-LABEL: @outfeed(
// CHECK:      %{{.*}} = "stablehlo.outfeed"(%{{.*}}, %{{.*}}) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
func.func @outfeed(%0: tensor<4xf32>, %1: !stablehlo.token) {
  %2 = "stablehlo.outfeed"(%0, %1) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  func.return
}

// CHECK-LABEL: @partition_id(
// CHECK:      %{{.*}} = stablehlo.partition_id : tensor<ui32>
func.func @partition_id() {
  %0 = stablehlo.partition_id : tensor<ui32>
  func.return
}

// CHECK-LABEL: @recv(
// CHECK:      %{{.*}}, %{{.*}} = "stablehlo.recv"(%{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
func.func @recv(%0: !stablehlo.token) {
  %1, %2 = "stablehlo.recv"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  func.return
}

// CHECK-LABEL: @reduce_scatter(
// CHECK:      %{{.*}} = "stablehlo.reduce_scatter"(%{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %{{.*}} = stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<f32>
// CHECK-NEXT: }) : (tensor<4x6xf32>) -> tensor<4x3xf32>
func.func @reduce_scatter(%0: tensor<4x6xf32>) {
  %1 = "stablehlo.reduce_scatter"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x3xf32>
  func.return
}

// CHECK-LABEL: @replica_id(
// CHECK:      %{{.*}} = stablehlo.replica_id : tensor<ui32>
func.func @replica_id() {
  %0 = stablehlo.replica_id : tensor<ui32>
  func.return
}

// CHECK-LABEL: @send(
// CHECK:      %{{.*}} = "stablehlo.send"(%{{.*}}, %{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
func.func @send(%0: tensor<4xf32>, %1: !stablehlo.token) {
  %2 = "stablehlo.send"(%0, %1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  func.return
}
