import { timeoutSignal } from '../async/timeout-signal.js'
import { AuditLogError, untilAborted } from '../errors.js'
import type { WaitOptions } from '../store/store.js'
import type { LedgerSigner } from './note.js'

/** Time in which a signer has to answer. */
const SIGN_MS = 30_000

/** The answer of a signer. Rejects with `STORE_FAILED` after half a minute, and once the signal aborts. */
async function within<Answer>(
  { signal }: WaitOptions,
  ask: () => Answer | Promise<Answer>,
): Promise<Answer> {
  using wait = timeoutSignal(SIGN_MS)
  const either = signal ? AbortSignal.any([wait.signal, signal]) : wait.signal
  try {
    return await untilAborted(Promise.resolve(ask()), either)
  } catch (error) {
    if (!wait.signal.aborted) throw error
    throw new AuditLogError(
      'STORE_FAILED',
      'the signer of the ledger has not answered within 30 seconds',
    )
  }
}

/** A signer whose calls end. A host may have the key in another service. */
export function boundSigner(signer: LedgerSigner, options: WaitOptions): LedgerSigner {
  const { vkey } = signer
  return {
    vkey,
    sign: (...call) => within(options, () => signer.sign(...call)),
    ...(signer.vouch && { vouch: (text) => within(options, () => signer.vouch!(text)) }),
    ...(signer.lastNote && { lastNote: () => within(options, () => signer.lastNote!()) }),
  }
}
