import Transport
import Wire

/// How the door can be made to answer wrongly, and the app to break its contract.
enum DoorActions {
  private static let kinds = ["none"] + DoorFault.Kind.allCases.map(\.rawValue)
  private static let breakages = Breakage.allCases.map(\.rawValue)

  static let all: [PhoneAction] = [
    AppActions.action(
      "door-fault",
      "the door answers wrongly: kind=\(kinds.joined(separator: "|")); raw takes text= (with \\r, \\n, \\t, \\\\) or hex=; "
        + "path=/hello limits it to one path",
      ["kind", "text", "hex", "path"]
    ) { phone, values throws(ActionError) in
      let kind = try values.word(
        "kind", of: kinds, else: values["hex"] == nil && values["text"] == nil ? "silent" : "raw")
      let bytes = try reply(values)
      let fault = DoorFault.Kind(rawValue: kind).map { DoorFault(kind: $0, bytes: bytes, path: values["path"]) }
      phone.app.model.with { $0.door.fault = fault }
    },
    AppActions.action(
      "break", "the app breaks its contract: what=\(breakages.joined(separator: "|"))", ["what"]
    ) { phone, values throws(ActionError) in
      guard values["what"] != nil else {
        throw ActionError("Nothing was broken. The action needs to know what. Try: break what=\(breakages[0]).")
      }
      let what = try values.choice("what", Breakage.self, else: .busyWaits)
      phone.app.breakContract(what)
    },
    AppActions.action(
      "mend", "the app keeps its contract again: what=… as for break; alone: everything, door faults and camera too",
      ["what"]
    ) { phone, values throws(ActionError) in
      guard values["what"] != nil else { return phone.app.mendEverything() }
      phone.app.mend(try values.choice("what", Breakage.self, else: .busyWaits))
    },
    AppActions.action(
      "token", "the door asks for the bearer token value=TOKEN; without value it asks for none", ["value"]
    ) { phone, values throws(ActionError) in
      let token = values["value"].flatMap { $0.isEmpty ? nil : $0 }
      phone.app.model.with { $0.door.token = token }
    },
  ]

  private static func reply(_ values: ActionValues) throws(ActionError) -> [UInt8] {
    if let hex = values["hex"] {
      guard let bytes = Hex.decode(hex.filter { $0 != " " }) else {
        throw ActionError(
          "hex= takes pairs of hexadecimal digits. It may be cut off. Try: door-fault kind=raw hex=4f4b.")
      }
      return bytes
    }
    return unescaped(values["text"] ?? "")
  }

  /// A command line carries no control characters; the usual escapes stand for them.
  private static func unescaped(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
        bytes.append(byte)
        continue
      }
      switch next {
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case UInt8(ascii: "\\"): bytes.append(next)
      default: bytes += [byte, next]
      }
    }
    return bytes
  }
}

extension KioskApp {
  func breakContract(_ what: Breakage) {
    model.with { model in
      _ = model.door.broken.insert(what)
      planRescue(&model)
    }
  }

  func mend(_ what: Breakage) { mend([what]) }

  /// Ends every breakage, door fault, launch fault and trouble of the camera.
  func mendEverything() {
    model.with {
      $0.door.fault = nil
      $0.launchFaults = [:]
      $0.camera.fault = nil
    }
    mend(Set(Breakage.allCases))
  }

  private func mend(_ what: Set<Breakage>) {
    model.with { model in
      model.door.broken.subtract(what)
      if what.contains(.staysBusy), let claim = model.camera.claim, claim.isOver {
        giveBack(claim, in: &model)
      }
      if what.contains(.bandStays), model.camera.claim == nil { model.camera.band = nil }
      if what.contains(.keepsFiles), model.camera.claim == nil { removeClips(in: model) }
      planRescue(&model)
    }
  }

  // MARK: The claim as somebody else's

  /// - Returns: false when the app does not run or another capture is running.
  func holdCamera(_ claim: Claim) -> Bool {
    model.with { model in
      guard model.processes[settings.bundle] != nil, model.camera.claim == nil else { return false }
      model.camera.claim = claim
      model.camera.band = Band(camera: claim.camera, by: claim.by)
      return true
    }
  }

  /// Ends what holds the camera; a capture under way answers that it was interrupted.
  ///
  /// - Returns: false when nothing holds it.
  func releaseCamera() -> Bool {
    model.with { model in
      guard let claim = model.camera.claim else { return false }
      claim.interrupted.open()
      giveBack(claim, in: &model)
      model.camera.band = nil
      return true
    }
  }
}
