// Lines of a terminal made of pieces, so that what is cut and padded is the text alone. Law: nothing of a piece's text
// reaches the terminal as a control character; colours are added here and nowhere else.

import { visible } from '../core/visible.ts'

type Colour = 'good' | 'bad' | 'soft' | 'bold'
interface Piece {
  readonly text: string
  readonly colour?: Colour | undefined
}
export type Line = readonly Piece[]

/** Codes that terminals have had for decades: green, red, faint, bold. */
const CODES: Readonly<Record<Colour, number>> = { good: 32, bad: 31, soft: 2, bold: 1 }

/** As a terminal of so many columns shows it; without colours the text alone. */
export function shownLine(line: Line, columns: number, isColoured: boolean): string {
  let room = columns
  const parts = cutEnd(line).map(({ text, colour }) => {
    const seen = visible(text).slice(0, Math.max(0, room))
    room -= seen.length
    return isColoured && colour !== undefined && seen.trim() !== '' ? `\x1b[${CODES[colour]}m${seen}\x1b[0m` : seen
  })
  return parts.join('')
}

/** At least so wide; what is longer ends in one space. */
export function paddedLine(line: Line, width: number): Line {
  const pieces: Piece[] = []
  let room = width - 1
  for (const { text, colour } of line) {
    pieces.push({ text: text.slice(0, room), colour })
    room -= Math.min(room, text.length)
  }
  return [...pieces, { text: ' '.repeat(room + 1) }]
}

/** Without spaces at its end. */
function cutEnd(line: Line): Line {
  const end = line.findLastIndex(({ text }) => text.trimEnd() !== '')
  return line.slice(0, end + 1).map((piece, at) => (at === end ? { ...piece, text: piece.text.trimEnd() } : piece))
}
