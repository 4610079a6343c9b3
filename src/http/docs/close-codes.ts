// How a socket of /ws ends, and what its client does next: for the protocol's page, /docs and AsyncAPI.

export interface CloseCode {
  readonly code: number
  readonly why: string
  readonly next: string
}

/** Rules by their numbers in docs/ws-protocol.md. Any other code: connect again with backoff. */
export const CLOSE_CODES: readonly CloseCode[] = [
  { code: 1000, why: 'You closed the socket (WS-45)', next: 'nothing' },
  {
    code: 1001,
    why: 'You closed it, such as a browser that leaves the page, or a proxy between us is restarting',
    next: 'if you still want it, connect again with backoff',
  },
  { code: 1005, why: 'You closed it without a code (WS-45)', next: 'nothing' },
  {
    code: 1006,
    why: 'It ended without a close: the network broke, a part of the gateway was deployed or restarted, or the upgrade was refused (WS-2), whose status a browser hides',
    next: 'connect again with backoff; where it never opens, ask by curl what the refusal says',
  },
  {
    code: 1002,
    why: 'You closed it with a code that may not be sent (WS-45)',
    next: 'close with 1000, or one from 3000 to 4999',
  },
  { code: 1008, why: 'A flood of frames over the limit (WS-8)', next: 'send less, connect again' },
  {
    code: 1009,
    why: 'A frame was larger than one side takes: your library (Python’s `websockets` takes 1 MiB), or a frame of yours over 64 KiB (WS-6)',
    next: 'raise your library’s limit (`max_size=None`) or send less at once, connect again',
  },
  { code: 1011, why: 'A bug on our side', next: 'connect again with backoff' },
  {
    code: 1012,
    why: 'Books begin again (WS-33), or a replay was cut off (WS-157)',
    next: 'connect again, subscribe again',
  },
  {
    code: 1013,
    why: 'Too much was sent without a proof that you read (WS-12), Snapshots could not be had (WS-48), or the meter has not answered (WS-41)',
    next: 'prove that you read (WS-60); connect again with backoff',
  },
  {
    code: 4401,
    why: 'The key was revoked, replaced, has expired or lost the product (WS-40)',
    next: 'do not try again with this key',
  },
  { code: 4402, why: 'Credits are exhausted (WS-39)', next: 'top up, then connect again' },
  { code: 4408, why: 'No frame in either direction for 60 s (WS-11)', next: 'ping at least every 30 s; connect again' },
  {
    code: 4410,
    why: 'The stream token has expired (WS-163)',
    next: 'get another token, connect again, subscribe again',
  },
]
