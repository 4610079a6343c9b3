// Escapes external strings for a terminal. Invariants: no string moves the cursor, clears the screen or reverses the
// reading order; lone surrogates and invisible characters are shown as JSON escapes.

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu
const UNSEEN_IN_LINES = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu

/** Escapes a string that must stay on one line. Line feeds are escaped too. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped)
}

/** Escapes a string with our own line breaks, which are kept. JSON remains equal JSON. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN_IN_LINES, escaped)
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => {
    const unit = character.charCodeAt(i).toString(16)
    return `\\u${unit.padStart(4, '0')}`
  }).join('')
}
