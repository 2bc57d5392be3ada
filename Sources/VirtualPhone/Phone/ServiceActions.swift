import Transport

/// What can be made to go wrong with the phone's services, whichever they are.
extension DeviceActions {
  static let services: [PhoneAction] = [
    PhoneAction(
      name: "service-fault",
      summary: "a service goes wrong from its next start on: service=NAME (all of them if not given), "
        + "kind=\(ServiceFault.Kind.allCases.map(\.rawValue).joined(separator: "|")), error=TOKEN (of refuse; "
        + "InvalidService if not given), count=N; clear=yes takes all of them back",
      keys: ["service", "kind", "error", "count", "clear"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let kinds = ServiceFault.Kind.allCases.map(\.rawValue)
      let tokens = LockdownError.allCases.map(\.rawValue)
      var service = ServiceFault.anyService
      if let name = values["service"], name != service { service = try DeviceServices.known(name) }
      var fault = ServiceFault(
        kind: .init(rawValue: try values.word("kind", of: kinds, else: kinds[0])) ?? .hang, service: service)
      let token = try values.word("error", of: tokens, else: ServiceFault.defaultError.rawValue)
      fault.error = LockdownError(rawValue: token) ?? ServiceFault.defaultError
      fault.left = try values.integer("count", in: 1...1_000_000)
      let (clears, added) = (try values.flag("clear", else: false), fault)
      phone.state.with {
        if clears {
          $0.serviceFaults = []
        } else {
          $0.serviceFaults.removeAll { $0.service == added.service }
          $0.serviceFaults.append(added)
        }
      }
    },
    PhoneAction(
      name: "debugserver-as",
      summary: "under which names debugserver starts, on iOS 16 and older: form=both|secure|old-clear (the old name, "
        + "without SSL)|old",
      keys: ["form"]
    ) { phone, values throws(ActionError) in
      let words = DebugServerForm.allCases.map(\.rawValue)
      let word = try ActionValues(values).word("form", of: words, else: words[0])
      phone.state.with { $0.debugServerForm = DebugServerForm(rawValue: word) ?? .both }
    },
  ]
}
