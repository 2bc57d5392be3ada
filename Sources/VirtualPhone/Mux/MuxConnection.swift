import Transport
import Wire

/// One host's connection to the mux, on its own thread: requests, then perhaps events or a device port's bytes.
struct MuxConnection {
  /// The real daemon closes on anything longer.
  static let messageLimit = 0x10000
  /// For a message whose header has come; a host that stops in the middle of one is gone.
  private static let patience = Duration.seconds(30)

  let socket: Socket
  let bus: MuxBus
  let journal: Journal

  private enum Next {
    case goOn
    case listen(MuxListener)
    case end
  }

  /// Serves the connection to its end; the caller closes the socket.
  func serve() {
    while let frame = receive() {
      guard bus.answersNext() else { continue }
      switch answer(frame) {
      case .goOn: continue
      case .listen(let listener):
        stayListening(listener)
        return
      case .end: return
      }
    }
  }

  /// - Returns: nil when the host has gone or sends what no daemon takes.
  private func receive() -> MuxFrame? {
    do {
      let header = try socket.read(exactly: MuxFrame.headerSize, by: .never)
      var (frame, size) = try MuxFrame.header(header, limit: Self.messageLimit)
      frame.payload = try socket.read(exactly: size, by: .after(Self.patience))
      return frame
    } catch {
      return nil
    }
  }

  private func answer(_ frame: MuxFrame) -> Next {
    guard frame.version == MuxFrame.plistVersion else { return refuseVersion(frame) }
    guard frame.message == MuxFrame.plistMessage, let request = Self.request(frame.payload, manners),
      let type = request["MessageType"]?.string
    else {
      switch manners {
      case .plain: return reply(MuxReply.result(.badCommand), to: frame)
      // The host waits in vain.
      case .real: return .goOn
      }
    }
    switch type {
    case "ListDevices":
      note(type, request)
      return reply(["DeviceList": .array(bus.devices)], to: frame)
    case "Listen":
      note(type, request)
      let listener = MuxListener(socket, request: request, pacing: bus.pacing)
      bus.subscribe(listener, tag: frame.tag)
      return .listen(listener)
    case "ListListeners":
      note(type, request)
      return reply(["ListenerList": .array(bus.listenRequests.enumerated().map(Self.listenerEntry))], to: frame)
    case "Connect":
      return connect(request, frame)
    case "ReadBUID":
      note(type, request)
      return reply(["BUID": .string(bus.buid)], to: frame)
    case "ReadPairRecord", "SavePairRecord", "DeletePairRecord":
      return pairRecord(type, request, frame)
    default:
      note(type, request)
      return reply(MuxReply.result(.badCommand), to: frame)
    }
  }

  private func connect(_ request: Plist, _ frame: MuxFrame) -> Next {
    guard let id = request["DeviceID"]?.int, let sent = request["PortNumber"] else {
      return reply(MuxReply.result(.badCommand), to: frame)
    }
    let found = bus.phone(id)
    // The number travels in network byte order; one that is no port has nobody behind it.
    let port = sent.int.flatMap { UInt16(exactly: $0) }?.byteSwapped
    let way = found.flatMap { found in
      port.flatMap { MuxConnect($0, of: found.phone, on: bus, until: found.gone) }
    }
    let outcome = way?.knock(for: socket)
    let result: MuxReply.Number =
      found == nil ? .badDevice : outcome == .open || outcome == .lost ? .ok : .connectionRefused
    journal.record(
      found?.phone.udid, "mux-request",
      [
        "request": "Connect", "program": Self.program(request), "device_id": .integer(Int64(id)),
        "port": port.map { .integer(Int64($0)) } ?? .null, "result": .integer(Int64(result.rawValue)),
      ])
    switch outcome {
    case .hostGone, .lost: return .end
    case .refused, nil: return reply(MuxReply.result(result), to: frame)
    case .open: break
    }
    guard let way, case .goOn = reply(MuxReply.result(.ok), to: frame) else { return .end }
    way.serve(socket, resetsOnHalfClose: manners == .real)
    return .end
  }

  private func pairRecord(_ type: String, _ request: Plist, _ frame: MuxFrame) -> Next {
    let id = request["PairRecordID"]?.string
    var answer = MuxReply.result(.ok)
    var result: Int32 = 0
    do throws(PairRecords.Refusal) {
      switch type {
      case "ReadPairRecord": answer = ["PairRecordData": .data(try bus.records.read(id))]
      case "SavePairRecord": try bus.records.save(request["PairRecordData"]?.bytes, as: id)
      default: try bus.records.delete(id)
      }
    } catch {
      result = error.number
      answer = MuxReply.result(result)
    }
    note(type, request, ["id": .text(id), "result": .integer(Int64(result))], phone: id.map { UDID($0) })
    let next = reply(answer, to: frame)
    if type == "SavePairRecord", result == 0, let id, let (phone, entry) = bus.entry(spelled: id),
      let number = request["DeviceID"]?.int, bus.phone(number)?.phone === phone
    {
      bus.announcePaired(entry)
    }
    return next
  }

  /// Any further request on a listening connection ends it; with plain manners it is refused first.
  private func stayListening(_ listener: MuxListener) {
    defer { bus.unsubscribe(listener) }
    guard let frame = receive() else { return }
    journal.record(nil, "mux-request", ["request": "after-listen"])
    switch manners {
    case .plain:
      listener.enqueue(MuxReply.result(.badCommand), tag: frame.tag)
      listener.flush()
    case .real: return
    }
  }

  private var manners: MuxManners { bus.manners }

  /// The real daemon says so in the words of the older protocol.
  private func refuseVersion(_ frame: MuxFrame) -> Next {
    switch manners {
    case .plain: return reply(MuxReply.result(.badVersion), to: frame)
    case .real: return send(MuxReply.binaryResult(.badVersion, tag: frame.tag))
    }
  }

  private func reply(_ plist: Plist, to frame: MuxFrame) -> Next { send(MuxFrame(plist, tag: frame.tag)) }

  private func send(_ frame: MuxFrame) -> Next {
    do throws(StreamError) {
      try bus.pacing.write(frame.bytes, to: socket, by: .after(Self.patience))
      return .goOn
    } catch {
      return .end
    }
  }

  private func note(_ type: String, _ request: Plist, _ more: [String: JSON] = [:], phone: UDID? = nil) {
    var details = more
    details["request"] = .string(String(type.prefix(64)))
    details["program"] = Self.program(request)
    journal.record(phone, "mux-request", details)
  }

  private static func request(_ payload: [UInt8], _ manners: MuxManners) -> Plist? {
    // The daemon reads XML only.
    if manners == .real, payload.starts(with: Array("bplist".utf8)) { return nil }
    do throws(PlistError) { return try Plist(parsing: payload) } catch { return nil }
  }

  private static func program(_ request: Plist) -> JSON {
    .text(request["ProgName"]?.string.map { String($0.prefix(64)) })
  }

  private static func listenerEntry(_ index: Int, _ request: Plist) -> Plist {
    let program = request["ProgName"]?.string ?? "unknown"
    return [
      "Blacklisted": false, "BundleID": request["BundleID"] ?? "", "ConnType": 0,
      "ID String": .string("\(index)-\(program)"), "ProgName": .string(program),
      "kLibUSBMuxVersion": request["kLibUSBMuxVersion"] ?? 3,
    ]
  }
}
