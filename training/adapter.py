"""Reads and writes the trained matrices as a GGUF adapter for llama.cpp."""

from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.quants import dequantize, quantize

from training.network import RANK, Network

EIGHT_BITS = GGMLQuantizationType.Q8_0


def write_adapter(network: Network, path: Path, name: str, rank: int = RANK) -> None:
    writer = GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_name(name)
    writer.add_license("apache-2.0")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(rank))  # llama.cpp scales by alpha / rank, here 1
    for base, adapted in network.learnt():
        for side, matrix in (("a", adapted.a), ("b", adapted.b)):
            values = matrix.detach().float().cpu().numpy().astype(np.float32)
            writer.add_tensor(f"{base}.lora_{side}", quantize(values, EIGHT_BITS), raw_dtype=EIGHT_BITS)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_adapter(network: Network, path: Path) -> None:
    """Load the trained matrices of an adapter into a network."""
    tensors = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    for base, adapted in network.learnt():
        for side, matrix in (("a", adapted.a), ("b", adapted.b)):
            tensor = tensors[f"{base}.lora_{side}"]
            values = dequantize(tensor.data, tensor.tensor_type)
            matrix.data.copy_(torch.from_numpy(np.array(values, dtype=np.float32)))
