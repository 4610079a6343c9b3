// Stands for `cloudflare:workers` where the objects run in Node, and for what nobody uses there.

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
