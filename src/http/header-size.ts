import { HttpProblem } from './problem.js'

/** Real headers of negotiation are shorter; parsing takes time that grows with the length. */
export const MAX_NEGOTIATION_HEADER = 1024

/** Throws `INVALID_HEADER` for a header that is too long to be parsed. */
export function checkHeaderSize(header: string, value: string): void {
  if (value.length <= MAX_NEGOTIATION_HEADER) return
  throw new HttpProblem(
    'INVALID_HEADER',
    `${header} may have at most ${MAX_NEGOTIATION_HEADER} characters; it has ${value.length}`,
    { header },
  )
}
