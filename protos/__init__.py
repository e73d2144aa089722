"""The wire of sci_gym: messages and stubs generated from `vm_agent.proto`, which is the manual.

They are generated with the oldest supported tool chain (grpcio-tools 1.51, protobuf 4.21), whose code
loads on every later runtime, so that a guest's Python may be older than the host's. `make protos`
writes them anew, and a test holds that they are what the .proto says.
"""

PROTOCOL_VERSION = 3
