import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { types } from '../data/account.js'
import { query } from '../data/address.js'
import { countEvents } from '../data/api.js'
import { chooseFacets, facetNames, MAX_FACETS } from '../data/counts.js'
import { useEscape } from '../ui/keyboard.js'
import { apiQueryWith } from '../data/query.js'
import { texts } from '../ui/texts.js'
import { showNote } from '../ui/notes.js'

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

/** Suggested attribute names: those seen in events, most frequent first, then declared ones. */
function Names({ id }: { id: string }) {
  const names = useSignal<readonly string[]>([])
  useEffect(() => {
    const controller = new AbortController()
    const take = async (): Promise<void> => {
      names.value = await seen(controller.signal)
    }
    // Ignored: users can type any name.
    take().catch(() => undefined)
    return () => controller.abort()
  }, [])
  const offered = new Set(['source', 'system', ...names.value, ...declared()])
  for (const name of facetNames.value) offered.delete(name)
  return (
    <datalist id={id}>
      {[...offered].map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  )
}

/** Adds a facet for any attribute. */
export function AddFacet({ within }: { within: string }) {
  const isOpen = useSignal(false)
  const field = useRef<HTMLInputElement>(null)
  const close = (): void => {
    isOpen.value = false
  }
  useEscape(isOpen.value, close)
  useEffect(() => {
    if (isOpen.value) field.current?.focus()
  }, [isOpen.value])
  if (facetNames.value.length >= MAX_FACETS) return null
  const add = (name: string): void => {
    if (UNIQUE_ATTRIBUTES.has(name)) return showNote(texts.facets.eachItsOwn(name))
    if (name !== '' && name !== 'level') chooseFacets([...new Set([...facetNames.value, name])])
    close()
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
  return (
    <section class="facet">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          add(field.current!.value.trim())
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
            // The name was picked from the list, not typed.
            const { inputType } = event as InputEvent
            if (inputType === undefined || inputType === 'insertReplacementText')
              add(event.currentTarget.value)
          }}
        />
        <Names id={list} />
      </form>
    </section>
  )
}
