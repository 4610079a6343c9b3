// Escapes external strings for a terminal. Invariants: no string moves the cursor, clears the screen or reverses
// reading order; lone surrogates and invisible characters appear as JSON escapes.

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu
const UNSEEN_IN_LINES = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu

/** For a single line: line feeds are escaped too. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped)
}

/** For strings whose line breaks are our own. JSON remains the same JSON. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN_IN_LINES, escaped)
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => {
    const unit = character.charCodeAt(i).toString(16)
    return `\\u${unit.padStart(4, '0')}`
  }).join('')
}
