// What of a text may stand in the address of a page. Law: of a key or token no more than lists show.

const SHOWN = 12

export const shownPart = (text: string): string => text.trim().replace(/\bcq[tso]_\w+/g, (key) => key.slice(0, SHOWN))
