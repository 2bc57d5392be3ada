import Transport

/// What can be made to happen to the cameras and to what the app may use.
enum CameraActions {
  static let all: [PhoneAction] = [
    AppActions.action(
      "hold-camera", "another capture is running: camera=back by=NAME; it goes on until release-camera",
      ["camera", "by"]
    ) { phone, values throws(ActionError) in
      let camera = try values.word("camera", of: CameraState.names, else: "back")
      guard phone.app.holdCamera(Claim(camera: camera, by: values["by"])) else {
        throw ActionError(
          "The camera was not taken. The app does not run, or another capture is running. Try: release-camera, or "
            + "launch-app.")
      }
    },
    AppActions.action("release-camera", "whatever holds the camera ends", []) { phone, _ throws(ActionError) in
      guard phone.app.releaseCamera() else {
        throw ActionError("The camera was not released. Nothing holds it. Try: hold-camera.")
      }
    },
    AppActions.action(
      "stick-camera",
      "the camera fails: mode=stuck never calls back (504 by the body's clock), mode=shut will not open (503)",
      ["mode"]
    ) { phone, values throws(ActionError) in
      let mode = try values.choice("mode", CameraState.Fault.self, else: .stuck)
      phone.app.model.with { $0.camera.fault = mode }
    },
    AppActions.action("unstick-camera", "the camera works again", []) { phone, _ throws(ActionError) in
      phone.app.model.with { $0.camera.fault = nil }
    },
    AppActions.action(
      "grant",
      "what the app may use: camera=, microphone= or location=authorized|denied|restricted|notDetermined; alone: "
        + "camera=authorized",
      CameraState.grantNames
    ) { phone, values throws(ActionError) in try setGrants(phone, values, else: .authorized) },
    AppActions.action(
      "revoke", "the same keys as grant; alone: camera=denied", CameraState.grantNames
    ) { phone, values throws(ActionError) in try setGrants(phone, values, else: .denied) },
    AppActions.action(
      "place", "whether the phone knows its place: known=yes|no; a still waits up to 3 s for it", ["known"]
    ) { phone, values throws(ActionError) in
      let known = try values.flag("known", else: true)
      phone.app.model.with { $0.camera.hasFix = known }
    },
  ]

  private static func setGrants(
    _ phone: VirtualPhone, _ values: ActionValues, else fallback: CameraState.Grant
  ) throws(ActionError) {
    var grants: [String: CameraState.Grant] = [:]
    for name in CameraState.grantNames where values[name] != nil {
      grants[name] = try values.choice(name, CameraState.Grant.self, else: fallback)
    }
    if grants.isEmpty { grants["camera"] = fallback }
    let changed = grants
    phone.app.model.with { $0.camera.grants.merge(changed) { _, new in new } }
  }
}
