// Replaces `cloudflare:workers` for objects that run in Node, and for what is unused there.

export class DurableObject {
  readonly ctx: unknown
  readonly env: unknown

  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx
    this.env = env
  }
}

export const connect = null
export default null
