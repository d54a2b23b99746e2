import { pause } from '../async/pause.js'
import { runOutside } from '../async/outside.js'
import type { LinkTable } from '../event/links.js'
import type { Grouping } from '../filter/ast.js'
import { type Concealed, type Concealment, readConcealed } from '../filter/conceal.js'
import type { SealedNames } from '../filter/sealed-names.js'
import { parseVisible, type Visible } from '../filter/visible-filter.js'
import { isError } from '../event/realm.js'

/**
 * Rights of an owner: the filter of the events that the owner may see, and the view without some attributes; or the error of
 * the function `visible` or `conceal`.
 */
export type OwnerRights =
  | {
      readonly where: Grouping | undefined
      readonly concealed?: Concealment | undefined
      readonly error?: undefined
    }
  | { readonly error: Error }

/** Rights of the owners of subscriptions. */
export interface Rights {
  /** The last answer, at most about a minute old; `undefined` until the first answer. */
  of(owner: string | null): OwnerRights | undefined
  /** Asks now. */
  ask(owner: string | null): Promise<OwnerRights>
}

/** The functions of the host that say what the owner of a subscription sees. */
export interface AskRights {
  readonly visible?: ((owner: string) => Visible | Promise<Visible>) | undefined
  readonly conceal?: ((owner: string) => Concealed | Promise<Concealed>) | undefined
  /** The link attributes of the log. */
  readonly links: LinkTable
  /** Names of attributes that `visible` may not use. */
  readonly sealedNames: SealedNames
}

const EVERYTHING: OwnerRights = { where: undefined }
const RECHECK_MS = 60_000
const TIMEOUT_MS = 10_000

interface Known {
  askedAt: number
  rights: OwnerRights | undefined
}

/** Repeats the calls of the host each minute for the owners in use. `answered` is called after each answer. */
export function createRights(host: AskRights, answered: () => void): Rights {
  const { visible, conceal } = host
  const seesAll = (owner: string | null): owner is null =>
    owner === null || (visible === undefined && conceal === undefined)
  const known = new Map<string, Known>()

  const ask = async (owner: string | null): Promise<OwnerRights> => {
    if (seesAll(owner)) return EVERYTHING
    const stop = new AbortController()
    try {
      const late = pause(TIMEOUT_MS, stop.signal).then(() => undefined)
      const answer = runOutside(async () => ({
        given: visible ? await visible(owner) : 'all',
        names: conceal ? await conceal(owner) : [],
      }))
      const found = await Promise.race([answer, late])
      if (found === undefined) throw new Error('visible or conceal did not answer in time')
      const { given, names } = found
      if (given === undefined) throw new Error('visible returned nothing')
      const where = parseVisible(given)
      host.sealedNames.checkOption(where, 'visible')
      return { where, concealed: readConcealed(names, host.links) }
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
      if (seesAll(owner)) return EVERYTHING
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
