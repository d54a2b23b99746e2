import { AuditLogError } from '../errors.js'
import { checkOrigin, type Checkpoint, parseCheckpoint } from './checkpoint.js'
import { openNote } from './note.js'

/** A signed head of a ledger. */
export interface Head extends Checkpoint {
  readonly note: string
}

/** The head in a note. Rejects with `MALFORMED_PROOF` and `NOT_PROVED` unless this key has signed it. */
export async function openHead(note: string, vkey: string): Promise<Head> {
  const { text } = await openNote(note, [vkey])
  const head = parseCheckpoint(text)
  checkOrigin(head, vkey.slice(0, vkey.indexOf('+')))
  return { ...head, note }
}

/** The head in the tables of the ledger, which somebody may have changed. Rejects with `DAMAGED` unless this key has signed it. */
export const openStoredHead = (note: string, vkey: string): Promise<Head> =>
  openHead(note, vkey).catch((cause: unknown) => {
    const message = 'the head in the log is not signed by the key of the ledger: verify the log'
    throw new AuditLogError('DAMAGED', message, { cause })
  })
