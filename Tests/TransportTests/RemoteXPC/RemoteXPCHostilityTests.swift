import Glibc
import Testing
import Transport
import Wire

/// Peers that send whatever comes into their heads.
@Suite struct `a RemoteXPC peer that makes no sense` {
  /// Frames that a peer could send, most of them at the wrong moment or with the wrong content.
  private func nonsense(_ random: inout Xorshift) -> [UInt8] {
    let messages: [XPCMessage] = [
      .hello, .version, .replies, XPCMessage(.reply, id: 1, body: "x"), XPCMessage(.push, id: 2, body: ["k": nil]),
      XPCMessage(.request, id: 3, body: .data([1, 2, 3])), XPCMessage([.always, .data, .opensFile], id: 5, body: "f"),
    ]
    var bytes: [UInt8] = []
    for _ in 0...random.next(20) {
      var frame =
        random.next(2) == 0
        ? Frame.message(UInt32(random.next(6)), messages[random.next(messages.count)])
        : Frame(
          type: UInt8(random.next(12)), flags: UInt8(random.next(256)), stream: UInt32(random.next(8)),
          body: (0..<random.next(30)).map { _ in UInt8(random.next(256)) })
      if random.next(6) == 0, !frame.body.isEmpty {
        frame.body[random.next(frame.body.count)] = UInt8(random.next(256))
      }
      bytes += frame.bytes
    }
    if random.next(8) == 0 { bytes[random.next(bytes.count)] = UInt8(random.next(256)) }
    return bytes
  }

  @Test(arguments: [RemoteRole.client, .server]) func `ends with an error or its end, never later than its time`(
    role: RemoteRole
  ) throws {
    var random = Xorshift(seed: role == .client ? 0xC11E17 : 0x5E12BE12)
    for _ in 0..<1500 {
      let (near, far) = try Socket.pair()
      let opening = Frame.settings((3, 100), (4, 1 << 20)).bytes
      let honest: [Frame] = [
        .headers(1), .message(1, .hello), .headers(3), .message(1, .version), .message(3, .replies),
      ]
      var bytes = role == .client ? opening : Frame.preface + opening
      if random.next(2) == 0 { bytes += honest.flatMap(\.bytes) }
      bytes += nonsense(&random)
      try far.write(bytes, by: RawPeer.soon)
      far.endSending()

      let late = Deadline.after(.seconds(20))
      do throws(RemoteXPCError) {
        let connection: RemoteXPCConnection
        switch role {
        case .client: connection = try .open(on: near, by: RawPeer.soon)
        case .server: connection = try .accept(on: near, by: RawPeer.soon)
        }
        while try connection.receive(by: RawPeer.soon) != nil {}
      } catch {
        #expect(error != .timedOut)
        #expect(!error.sentence.isEmpty)
      }
      #expect(!late.hasPassed)
    }
  }
}

/// Which end is ours.
enum RemoteRole: Sendable { case client, server }
