// What keeps work alive beyond the response, as an execution context of the platform does.

export type WaitUntil = (work: Promise<unknown>) => void
