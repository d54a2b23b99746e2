import { appendFunction, formerAppendFunction } from './append-function.js'
import type { Names } from './names.js'

/** Drafts come as rows. The function by which versions 2 to 4 append stays for processes of theirs. */
export const migration5 = (names: Names): string =>
  appendFunction(names) + formerAppendFunction(names)
