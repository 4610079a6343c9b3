// Keeps work alive after the response, like `ExecutionContext.waitUntil`.

export type WaitUntil = (work: Promise<unknown>) => void
