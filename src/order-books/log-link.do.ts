// The link of a hub or an order-level book to the log. The log dials in; frames that arrive before the attach answer
// wait for it. Invariant: no frame is applied from a link whose starting height is unknown.

/** If no frame arrives for this long, the link counts as dead and is dialed again. */
const SILENCE_MS = 10_000
/** Characters read between two reports to the log, which uses the reports to limit what is in flight. */
const REPORT_CHARS = 256 * 1024
/** How often an idle hub checks its link. */
const WATCHDOG_MS = 30_000

interface LogLinkHost {
  /** Requests a link from the log and applies the answer. */
  attach(): Promise<void>
  onFrame(frame: string): void
  /** Called when the link works and all waiting frames have been applied. */
  onSettled(): void
}

export class LogLink {
  readonly #ctx: DurableObjectState
  readonly #host: LogLinkHost
  #attaching: Promise<void> | null = null
  /** Frames of a dialed link, kept until the attach answer says where they begin; null while no link is dialed. */
  #earlyFrames: string[] | null = null
  /** False in an object that just restarted, even if its link survived. */
  #isAttached = false
  /** True after release(): the link is dialed again only when a caller needs it. */
  #isReleased = false
  #lastFrameMs = 0
  /** Characters of this link's frames, and how many of them were reported as read. */
  #chars = 0
  #reported = 0

  constructor(ctx: DurableObjectState, host: LogLinkHost) {
    this.#ctx = ctx
    this.#host = host
  }

  /** Accepts the log's link. */
  accept(): Response {
    // The attach attempt has timed out, so its answer, which says where the frames begin, will not arrive.
    if (!this.#attaching) return new Response('no link is expected', { status: 409 })
    this.#earlyFrames = []
    const { 0: client, 1: server } = new WebSocketPair()
    for (const old of this.#ctx.getWebSockets()) old.close(1000, 'replaced')
    this.#ctx.acceptWebSocket(server)
    this.#lastFrameMs = Date.now()
    this.#chars = 0
    this.#reported = 0
    return new Response(null, { status: 101, webSocket: client })
  }

  onMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    if (!isOpen(socket) || typeof message !== 'string') return
    this.#lastFrameMs = Date.now()
    this.#chars += message.length
    if (this.#chars - this.#reported >= REPORT_CHARS) {
      this.#reported = this.#chars
      socket.send(String(this.#chars))
    }
    if (this.#earlyFrames) this.#earlyFrames.push(message)
    // The old link continues until the new one is dialed.
    else if (this.#isAttached) this.#host.onFrame(message)
    else this.#attachSoon()
  }

  onClose(socket: WebSocket, code: number): void {
    if (code === 1005 || code === 1006) socket.close()
    else socket.close(code)
    if (!this.#isReleased) this.#attachSoon()
  }

  /** Attaches again, because the last frame did not follow the previous one or the link broke. */
  reattach(): void {
    this.#lastFrameMs = 0
    this.#attachSoon()
  }

  /** Attaches in the background. If that fails, the alarm tries again. */
  #attachSoon(): void {
    this.#ctx.waitUntil(this.ensureAttached().catch(() => undefined))
  }

  /** Attaches to the log unless a live link exists. Concurrent callers share one attempt. */
  async ensureAttached(): Promise<void> {
    this.#isReleased = false
    const isLive = this.#isAttached && this.#ctx.getWebSockets().some(isOpen)
    if (!this.#attaching && isLive && Date.now() - this.#lastFrameMs < SILENCE_MS) return
    this.#armWatchdog()
    this.#attaching ??= this.#host.attach().then(
      () => this.#onAttached(),
      (error: unknown) => this.#onAttachFailed(error),
    )
    await this.#attaching
    this.#host.onSettled()
  }

  /** Closes the link until a caller needs it again. */
  release(): void {
    this.#isReleased = true
    this.#isAttached = false
    for (const socket of this.#ctx.getWebSockets()) socket.close(1000, 'not in use')
    void this.#ctx.storage.deleteAlarm({ allowUnconfirmed: true })
  }

  #onAttached(): void {
    const early = this.#earlyFrames ?? []
    this.#attaching = null
    this.#earlyFrames = null
    this.#isAttached = true
    for (const text of early) this.#host.onFrame(text)
  }

  /** Closes a link whose attach answer did not arrive, because the repairs and coins in that answer are unknown. */
  #onAttachFailed(error: unknown): never {
    const isDialed = this.#earlyFrames !== null
    this.#attaching = null
    this.#earlyFrames = null
    if (isDialed) for (const socket of this.#ctx.getWebSockets()) socket.close(1011, 'the attach answer did not arrive')
    throw error
  }

  /**
   * Sets the alarm. The write is unconfirmed, so that it does not delay frames. It goes off late, because relays detect
   * a silent link sooner. A timer would keep the object from hibernating.
   */
  #armWatchdog(): void {
    void this.#ctx.storage.setAlarm(Date.now() + WATCHDOG_MS, { allowUnconfirmed: true })
  }

  /** Sets the next alarm first, so that a failure does not end the checks. */
  async onAlarm(): Promise<void> {
    this.#armWatchdog()
    await this.ensureAttached().catch(() => undefined)
  }
}

const isOpen = (socket: WebSocket): boolean => socket.readyState === WebSocket.OPEN
