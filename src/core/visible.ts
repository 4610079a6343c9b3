// Text from outside on its way to a terminal. Law: nothing of it moves the cursor, clears the screen or turns the order
// of what is read; lone surrogates and characters that nobody sees are shown as the escapes that JSON has for them.

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu
const UNSEEN_IN_LINES = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu

/** For one line: a line feed is escaped too. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped)
}

/** For text whose lines are ours; JSON stays the same JSON. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN_IN_LINES, escaped)
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => {
    const unit = character.charCodeAt(i).toString(16)
    return `\\u${unit.padStart(4, '0')}`
  }).join('')
}
