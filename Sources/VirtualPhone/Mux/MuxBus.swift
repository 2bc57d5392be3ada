/// The bus behind the mux: which phones are plugged in, under which numbers, and who listens for changes.
final class MuxBus: Sendable {
}
