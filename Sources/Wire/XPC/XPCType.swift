/// The numbers that begin an object on the wire.
///
/// - Source: open implementations of RemoteXPC, and a capture of pymobiledevice3 11.45.0.
enum XPCType: UInt32 {
  case null = 0x1000
  case bool = 0x2000
  case int64 = 0x3000
  case uint64 = 0x4000
  case double = 0x5000
  case date = 0x7000
  case data = 0x8000
  case string = 0x9000
  case uuid = 0xA000
  case array = 0xE000
  case dictionary = 0xF000
  case fileTransfer = 0x1A000
}
