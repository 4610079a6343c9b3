// The link of a hub, or of an order-level book, to the log: the log dials in, and frames that overtake the answer of an attach wait for it.
// Law: no frame is taken of a link of which the hub was not told where it begins.

/** No frame of the log for this long: the link is taken for dead and dialled again. */
const SILENCE_MS = 10_000
/** So many characters are read before the log is told how many: it bounds what is under way. */
const REPORT_CHARS = 256 * 1024
/** A hub that nobody asks looks this often whether its link lives. */
const WATCHDOG_MS = 30_000

interface LogLinkHost {
  /** Asks the log for a link and takes what it answers. */
  attach(): Promise<void>
  onFrame(frame: string): void
  /** The link stands and all that came meanwhile is taken. */
  onSettled(): void
}

export class LogLink {
  readonly #ctx: DurableObjectState
  readonly #host: LogLinkHost
  #attaching: Promise<void> | null = null
  /** Frames of a link that was dialled, until the answer says where they begin; null while none is awaited. */
  #earlyFrames: string[] | null = null
  /** False in an object that has just woken, though its link may have outlived its memory. */
  #isAttached = false
  /** Let go of: it is not dialled anew by itself. */
  #isReleased = false
  #lastFrameMs = 0
  /** Characters of this link's frames, and how many of them the log knows to be read. */
  #chars = 0
  #reported = 0

  constructor(ctx: DurableObjectState, host: LogLinkHost) {
    this.#ctx = ctx
    this.#host = host
  }

  /** The log dials in. */
  accept(): Response {
    // Of an attempt that was given up: nobody will learn where its frames begin.
    if (!this.#attaching) return new Response('no link is awaited', { status: 409 })
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
    // Until the new link is dialled the one before it goes on.
    else if (this.#isAttached) this.#host.onFrame(message)
    else this.#attachSoon()
  }

  onClose(socket: WebSocket, code: number): void {
    if (code === 1005 || code === 1006) socket.close()
    else socket.close(code)
    if (!this.#isReleased) this.#attachSoon()
  }

  /** What came last does not follow, or the link broke: it is dialled anew. */
  reattach(): void {
    this.#lastFrameMs = 0
    this.#attachSoon()
  }

  /** Where this fails, the alarm tries again. */
  #attachSoon(): void {
    this.#ctx.waitUntil(this.ensureAttached().catch(() => undefined))
  }

  /** Attaches to the log unless a live link exists; concurrent callers share one attempt. */
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

  /** Lets go of the link until somebody asks for it. */
  release(): void {
    this.#isReleased = true
    this.#isAttached = false
    for (const socket of this.#ctx.getWebSockets()) socket.close(1000, 'nobody asks')
    void this.#ctx.storage.deleteAlarm({ allowUnconfirmed: true })
  }

  #onAttached(): void {
    const early = this.#earlyFrames ?? []
    this.#attaching = null
    this.#earlyFrames = null
    this.#isAttached = true
    for (const text of early) this.#host.onFrame(text)
  }

  /** A link whose answer did not come ends: what the answer would have told of repairs and coins is not known. */
  #onAttachFailed(error: unknown): never {
    const isDialled = this.#earlyFrames !== null
    this.#attaching = null
    this.#earlyFrames = null
    if (isDialled) for (const socket of this.#ctx.getWebSockets()) socket.close(1011, 'no answer came')
    throw error
  }

  /**
   * Unconfirmed, or it would hold back frames; and far off, because whoever asks the hub, as relays do when its ticks
   * stay away, finds a silent link sooner. No timer: one that runs would keep the object from being put aside.
   */
  #armWatchdog(): void {
    void this.#ctx.storage.setAlarm(Date.now() + WATCHDOG_MS, { allowUnconfirmed: true })
  }

  /** The alarm is set first, so that a failure cannot end it. */
  async onAlarm(): Promise<void> {
    this.#armWatchdog()
    await this.ensureAttached().catch(() => undefined)
  }
}

const isOpen = (socket: WebSocket): boolean => socket.readyState === WebSocket.OPEN
