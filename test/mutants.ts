// Changes of pure files that no test can notice, each with the reason; `npm run mutants` passes over them.

/** By file: `text → what it becomes`. */
export const EXPLAINED: Readonly<Record<string, Readonly<Record<string, string>>>> = {}
