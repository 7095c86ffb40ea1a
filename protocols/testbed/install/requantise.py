# A GGUF file with Q4_1 weights as one with Q8_0, for servers that do not read the former.
# usage: requantise.py FROM.gguf TO.gguf
import sys

from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter
from gguf.quants import dequantize, quantize

MOSTLY_Q8_0 = 7  # general.file_type

source, target = sys.argv[1:]
reader = GGUFReader(source)
architecture = reader.fields["general.architecture"].contents()
writer = GGUFWriter(target, architecture)
for name, field in reader.fields.items():
    if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
        continue
    kind = field.types[0]
    inner = field.types[-1] if kind == GGUFValueType.ARRAY else None
    writer.add_key_value(name, field.contents(), kind, inner)
writer.add_file_type(MOSTLY_Q8_0)
q8_0 = GGMLQuantizationType.Q8_0
for tensor in reader.tensors:
    if tensor.tensor_type == GGMLQuantizationType.F32:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    else:
        weights = dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(tensor.name, quantize(weights, q8_0), raw_dtype=q8_0)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
