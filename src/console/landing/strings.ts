// Text that the script of the page `/` writes.

export const bookSpread = (size: string, basisPoints: string) => `Spread ${size} · ${basisPoints} bp`
export const bookTime = (time: string) => `${time} UTC`
