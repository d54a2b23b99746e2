import { visibleText } from '../../../src/describing/visible-text.js'
import type { Terminal } from './terminal.js'

/** Prints a message, not an error, to stderr: as a sentence, or as a line of JSON. */
export function printNotice(
  { stderr }: Pick<Terminal, 'stderr'>,
  text: string,
  asJson: boolean,
): void {
  const shown = visibleText(text)
  stderr.write(`${asJson ? JSON.stringify({ notice: shown }) : shown}\n`)
}
