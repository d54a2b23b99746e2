import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { nearest } from '../../../src/event/nearest.js'
import { types } from '../data/account.js'
import { query } from '../data/address.js'
import { countEvents } from '../data/api.js'
import { chooseFacets, facetNames, MAX_FACETS } from '../data/counts.js'
import { isolated } from '../data/isolated.js'
import { useEscape } from '../ui/keyboard.js'
import { apiQueryWith } from '../data/query.js'
import { texts } from '../ui/texts.js'
import { showNote } from '../ui/notes.js'
import { facetTexts } from './facet-texts.js'

const UNIQUE_ATTRIBUTES = new Set(['id', 'created_at'])

const declared = (): string[] =>
  Object.values(types.value).flatMap(({ data }) => (Array.isArray(data) ? data : []))

const seen = async (signal: AbortSignal): Promise<string[]> => {
  const { attributes } = await countEvents(
    apiQueryWith(query.value, []),
    { attributes: true },
    signal,
  )
  return (attributes ?? []).map(({ name }) => name)
}

/** The names of attributes: names in events, most frequent first, then declared names. */
function useNames(isOpen: boolean): readonly string[] {
  const names = useSignal<readonly string[]>([])
  useEffect(() => {
    if (!isOpen) return
    const controller = new AbortController()
    const take = async (): Promise<void> => {
      names.value = await seen(controller.signal)
    }
    // Ignored: users can type any name.
    take().catch(() => undefined)
    return () => controller.abort()
  }, [isOpen])
  return [...new Set(['source', 'system', ...names.value, ...declared()])]
}

/** True if no matching event has the attribute. False if that cannot be found out. */
async function isMissing(name: string): Promise<boolean> {
  try {
    const wanted = { facets: [name], top: 1 }
    const { facets } = await countEvents(apiQueryWith(query.value, []), wanted)
    const facet = facets[name]
    return facet !== undefined && facet.exact && facet.distinct === 0
  } catch {
    return false
  }
}

/** States that no event has the attribute, and offers the attribute with the most similar name. */
function Missing(props: { name: string; near: string | undefined; add: (name: string) => void }) {
  const { name, near, add } = props
  return (
    <div class="none" role="alert">
      <p>{facetTexts.missing(isolated(name))}</p>
      {near !== undefined && (
        <button type="button" class="link" onClick={() => add(near)}>
          {facetTexts.use(isolated(near))}
        </button>
      )}{' '}
      <button type="button" class="link" onClick={() => add(name)}>
        {facetTexts.addAnyway}
      </button>
    </div>
  )
}

/** Adds a facet for any attribute. */
export function AddFacet({ within }: { within: string }) {
  const isOpen = useSignal(false)
  const missing = useSignal<string | undefined>(undefined)
  const field = useRef<HTMLInputElement>(null)
  const names = useNames(isOpen.value)
  const close = (): void => {
    isOpen.value = false
    missing.value = undefined
  }
  useEscape(isOpen.value, close)
  // A layout effect, so that the next key press is typed into the field.
  useLayoutEffect(() => {
    if (isOpen.value) field.current?.focus()
  }, [isOpen.value])
  if (facetNames.value.length >= MAX_FACETS) return null
  const add = (name: string): void => {
    if (UNIQUE_ATTRIBUTES.has(name)) return showNote(texts.facets.eachItsOwn(name))
    if (name !== '' && name !== 'level') chooseFacets([...new Set([...facetNames.value, name])])
    close()
  }
  /** Adds a typed name, if events have it. */
  const addTyped = async (name: string): Promise<void> => {
    const isKnown = name === '' || UNIQUE_ATTRIBUTES.has(name) || names.includes(name)
    if (!isKnown && (await isMissing(name))) missing.value = name
    else add(name)
  }
  if (!isOpen.value)
    return (
      <section class="facet">
        <button type="button" class="link more" onClick={() => (isOpen.value = true)}>
          {texts.facets.add}
        </button>
      </section>
    )
  const list = `names-${within}`
  const shown = new Set<string>(facetNames.value)
  return (
    <section class="facet">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void addTyped(field.current!.value.trim())
        }}
      >
        <input
          ref={field}
          class="facet-find"
          list={list}
          placeholder={texts.facets.name}
          aria-label={texts.facets.name}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => {
            missing.value = undefined
            // The name was picked from the list, not typed.
            const { inputType } = event as InputEvent
            if (inputType === undefined || inputType === 'insertReplacementText')
              add(event.currentTarget.value)
          }}
        />
        <datalist id={list}>
          {names
            .filter((name) => !shown.has(name))
            .map((name) => (
              <option key={name} value={name} />
            ))}
        </datalist>
      </form>
      {missing.value !== undefined && (
        <Missing name={missing.value} near={nearest(missing.value, names)} add={add} />
      )}
    </section>
  )
}
