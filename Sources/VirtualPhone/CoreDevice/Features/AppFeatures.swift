import Transport
import Wire

/// com.apple.coredevice.appservice: starting apps, what runs, and signals.
struct AppFeatures: FeatureService {
  let name = CoreDeviceService.apps

  func features(on phone: VirtualPhone) -> [CoreDeviceFeature] {
    let streams: [CoreDeviceFeature] = phone.streamsLists ? [.streamApps, .streamProcesses] : []
    return [.launchApplication, .listProcesses, .sendSignal, .listApps] + streams
  }

  func answer(_ call: CoreDeviceRequest, on phone: VirtualPhone) throws(ShapeError) -> FeatureAnswer {
    if phone.rules.with({ $0.remote.isWedged }) { return .silence }
    switch call.known {
    case .launchApplication: return launch(try LaunchInput(call.input), on: phone)
    case .listProcesses: return .output(ProcessList(tokens(phone)).body)
    case .sendSignal: return send(try SignalInput(call.input), on: phone)
    case .listApps:
      if phone.streamsLists {
        // The stuck call takes the whole service with it.
        phone.rules.with { $0.remote.isWedged = true }
        return .silence
      }
      return .output(.array(try apps(call.input, on: phone)))
    case .streamApps where phone.streamsLists:
      let input = try StreamInput(call.input)
      return .stream(try apps(input.input, on: phone), channel: input.channel)
    case .streamProcesses where phone.streamsLists:
      return .stream(ProcessList(tokens(phone)).elements, channel: try StreamInput(call.input).channel)
    case .streamApps, .streamProcesses, .lockState, .deviceInfo, .displayInfo, .captureScreenshot, nil:
      return .failure(.unsupported(call.feature))
    }
  }

  // MARK: - Processes

  private func tokens(_ phone: VirtualPhone) -> [ProcessToken] {
    ([RunningProcess.kernel] + phone.running).map(\.token)
  }

  private func launch(_ input: LaunchInput, on phone: VirtualPhone) -> FeatureAnswer {
    switch phone.app.launch(byService: input) {
    case .launched(let process):
      let running = RunningProcess(pid: process.pid, name: process.executable, path: process.path)
      return .output(LaunchOutput(running.token).body)
    case .refused(let refusal): return .failure(.launch(refusal, input.bundle))
    case .silent: return .silence
    case .lost: return .close
    }
  }

  private func send(_ input: SignalInput, on phone: VirtualPhone) -> FeatureAnswer {
    guard HostSignal.all.contains(input.signal) else { return .failure(.signal(22, "Invalid argument")) }
    guard let process = phone.running.first(where: { $0.pid == input.pid }) else {
      return .failure(.signal(3, "No such process"))
    }
    guard process.bundle != nil else { return .failure(.signal(1, "Operation not permitted")) }
    guard phone.app.signal(input.pid, input.signal) else { return .failure(.signal(3, "No such process")) }
    return .output([
      "process": process.token.body, "signal": .int64(Int64(input.signal)),
      "deviceTimestamp": .date(nanoseconds: WallTime.now().milliseconds * 1_000_000),
    ])
  }

  // MARK: - Apps

  private func apps(_ body: XPCValue, on phone: VirtualPhone) throws(ShapeError) -> [XPCValue] {
    let input = try AppListInput(body)
    if phone.preset.major >= 26 {
      // Required since then; true needs an entitlement that no host has.
      for key in ["requireContainerAccess", "includeAppGroupIdentifiers", "includeContainerPaths"] {
        guard body[key]?.bool != nil else { throw ShapeError(key) }
      }
    }
    return phone.app.allInstalled.filter { $0.kind == .user ? input.removable : input.builtIn }.map(\.entry.body)
  }
}

extension InstalledApp {
  fileprivate var entry: AppEntry {
    AppEntry(
      bundle: bundle, name: name, path: "file://\(path)/", version: version, build: build,
      isRemovable: kind == .user, isDeveloperApp: kind == .user && isDebuggable)
  }
}
