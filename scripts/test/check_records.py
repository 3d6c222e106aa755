"""Reads and writes TFRecord shards with other people's code: TensorBoard's record reader and writer, and Google's
protobuf runtime for tf.train.Example.

    check_records.py read SHARD…        prints one JSON object a record: each feature's values; of bytes that are no
                                        text their length and SHA-256
    check_records.py write FOLDER TO    packs FOLDER/CLASS/*.jpg, in the order of their names, as one shard with the
                                        labels of Inception's scripts (from 1)

Runs with the runtime's Python.
"""
import hashlib
import json
import os
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tensorboard.compat.tensorflow_stub import errors, pywrap_tensorflow
from tensorboard.summary.writer.record_writer import RecordWriter

FIELD = descriptor_pb2.FieldDescriptorProto


def example_class():
    """tf.train.Example as tensorflow/core/example/{example,feature}.proto declare it."""
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="tensorflow", syntax="proto3")

    def message(name, *fields, parent=None):
        made = (parent.nested_type if parent else file.message_type).add(name=name)
        for number, (field, kind, repeated, type_name) in enumerate(fields, 1):
            made.field.add(
                name=field,
                number=number,
                type=kind,
                label=FIELD.LABEL_REPEATED if repeated else FIELD.LABEL_OPTIONAL,
                type_name=type_name,
            )
        return made

    message("BytesList", ("value", FIELD.TYPE_BYTES, True, None))
    message("FloatList", ("value", FIELD.TYPE_FLOAT, True, None))
    message("Int64List", ("value", FIELD.TYPE_INT64, True, None))
    feature = message(
        "Feature",
        ("bytes_list", FIELD.TYPE_MESSAGE, False, ".tensorflow.BytesList"),
        ("float_list", FIELD.TYPE_MESSAGE, False, ".tensorflow.FloatList"),
        ("int64_list", FIELD.TYPE_MESSAGE, False, ".tensorflow.Int64List"),
    )
    feature.oneof_decl.add(name="kind")
    for field in feature.field:
        field.oneof_index = 0
    features = message("Features", ("feature", FIELD.TYPE_MESSAGE, True, ".tensorflow.Features.FeatureEntry"))
    entry = message(
        "FeatureEntry",
        ("key", FIELD.TYPE_STRING, False, None),
        ("value", FIELD.TYPE_MESSAGE, False, ".tensorflow.Feature"),
        parent=features,
    )
    entry.options.map_entry = True
    message("Example", ("features", FIELD.TYPE_MESSAGE, False, ".tensorflow.Features"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.Example"))


def shown(value):
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("ascii")
    except UnicodeDecodeError:
        return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}


def read(paths):
    """Every record of every shard; DataLossError for one that is damaged."""
    example = example_class()
    for path in paths:
        reader = pywrap_tensorflow.PyRecordReader_New(path)
        while True:
            try:
                reader.GetNext()
            except errors.OutOfRangeError:
                break
            record = example.FromString(reader.record())
            found = {}
            for name, feature in record.features.feature.items():
                values = getattr(feature, feature.WhichOneof("kind")).value
                found[name] = [shown(value) for value in values]
            print(json.dumps(found, sort_keys=True))


def write(folder, to):
    example = example_class()
    with open(to, "wb") as file:
        writer = RecordWriter(file)
        for label, name in enumerate(sorted(os.listdir(folder)), 1):
            for image in sorted(os.listdir(os.path.join(folder, name))):
                record = example()
                feature = record.features.feature
                with open(os.path.join(folder, name, image), "rb") as jpeg:
                    feature["image/encoded"].bytes_list.value.append(jpeg.read())
                feature["image/class/label"].int64_list.value.append(label)
                feature["image/class/text"].bytes_list.value.append(name.encode())
                feature["image/object/bbox/xmin"].float_list.value.append(0.5)
                writer.write(record.SerializeToString())


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "read":
        read(sys.argv[2:])
    elif len(sys.argv) == 4 and sys.argv[1] == "write":
        write(sys.argv[2], sys.argv[3])
    else:
        sys.exit("check_records.py: error: unknown arguments. Use read SHARD… or write FOLDER TO")


if __name__ == "__main__":
    main()
