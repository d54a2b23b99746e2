import { pause } from '../async/pause.js'
import { runOutside } from '../async/outside.js'
import type { Grouping } from '../filter/ast.js'
import { parseVisible, type Visible } from '../filter/visible-filter.js'
import { isError } from '../event/realm.js'

/** Rights of an owner: the filter of the events that the owner may see, or the error of the function `visible`. */
export type OwnerRights =
  | { readonly where: Grouping | undefined; readonly error?: undefined }
  | { readonly error: Error }

/** Rights of the owners of subscriptions. */
export interface Rights {
  /** The last answer, at most about a minute old; `undefined` until the first answer. */
  of(owner: string | null): OwnerRights | undefined
  /** Asks now. */
  ask(owner: string | null): Promise<OwnerRights>
}

export type AskRights = (owner: string) => Visible | Promise<Visible>

const EVERYTHING: OwnerRights = { where: undefined }
const RECHECK_MS = 60_000
const TIMEOUT_MS = 10_000

interface Known {
  askedAt: number
  rights: OwnerRights | undefined
}

/** Repeats the calls of `visible` each minute for the owners in use. `answered` is called after each answer. */
export function createRights(visible: AskRights | undefined, answered: () => void): Rights {
  const known = new Map<string, Known>()

  const ask = async (owner: string | null): Promise<OwnerRights> => {
    if (owner === null || !visible) return EVERYTHING
    const stop = new AbortController()
    try {
      const late = pause(TIMEOUT_MS, stop.signal).then(() => undefined)
      const answer = runOutside(async () => visible(owner))
      const given = await Promise.race([answer, late])
      if (given === undefined)
        throw new Error('visible returned nothing, or did not answer in time')
      return { where: parseVisible(given) }
    } catch (thrown) {
      return { error: isError(thrown) ? thrown : new Error(String(thrown)) }
    } finally {
      stop.abort()
    }
  }
  const refresh = async (owner: string, entry: Known): Promise<void> => {
    entry.rights = await ask(owner)
    answered()
  }
  return {
    ask,
    of(owner) {
      if (owner === null || !visible) return EVERYTHING
      const now = performance.now()
      const entry = known.get(owner) ?? { askedAt: -Infinity, rights: undefined }
      // No delivery has used the rights for a while, so the kept answer is old.
      if (now - entry.askedAt >= 2 * RECHECK_MS) entry.rights = undefined
      if (now - entry.askedAt >= RECHECK_MS) {
        entry.askedAt = now
        known.set(owner, entry)
        void refresh(owner, entry)
      }
      return entry.rights
    },
  }
}
