/// One virtual phone.
public final class VirtualPhone: Sendable {
}
