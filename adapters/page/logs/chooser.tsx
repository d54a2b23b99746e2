import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Brand } from '../ui/brand.js'
import { chooserTexts as words } from './chooser-texts.js'
import { keys, loadMore, MAX_LOGS, next, problem, searchLogs } from './loading.js'

/*
 * The page of many logs before the user has chosen logs. The search and the choice are in the address. The page of
 * the chosen logs has a separate path, `<page>/logs/<key>,<key>`, which the server knows.
 */

const SEARCH_MS = 200

const address = new URLSearchParams(location.search)
const search = signal(address.get('search') ?? '')
const chosen = signal<ReadonlySet<string>>(
  new Set((address.get('selected') ?? '').split(',').map(decodeURIComponent).filter(Boolean)),
)
const isFull = computed(() => chosen.value.size >= MAX_LOGS)

const encodedKeys = (of: Iterable<string>): string => Array.from(of, encodeURIComponent).join()

const pathOf = (of: Iterable<string>): string =>
  `${location.pathname.replace(/\/$/, '')}/logs/${encodedKeys(of)}`

function remember(): void {
  const parts = [
    search.value === '' ? '' : `search=${encodeURIComponent(search.value)}`,
    chosen.value.size === 0 ? '' : `selected=${encodeURIComponent(encodedKeys(chosen.value))}`,
  ].filter(Boolean)
  const query = parts.length === 0 ? '' : `?${parts.join('&')}`
  history.replaceState(null, '', location.pathname + query)
}

function toggle(key: string): void {
  const changed = new Set(chosen.value)
  if (!changed.delete(key)) changed.add(key)
  chosen.value = changed
  remember()
}

function Log({ log }: { readonly log: string }) {
  const isChosen = chosen.value.has(log)
  return (
    <li>
      <label>
        <input
          type="checkbox"
          checked={isChosen}
          disabled={!isChosen && isFull.value}
          onChange={() => toggle(log)}
        />
        <span>{log}</span>
      </label>
      <a class="link" href={pathOf([log])} aria-label={words.only(log)}>
        {words.open}
      </a>
    </li>
  )
}

function Found() {
  if (problem.value) {
    const isSignedOut = problem.value === 'signIn'
    // The server may redirect to a sign-in page when the page is loaded again.
    const again = (): void => (isSignedOut ? location.reload() : searchLogs(search.value))
    return (
      <p role="alert">
        {words[problem.value]}{' '}
        <button type="button" class="link" onClick={again}>
          {words.again}
        </button>
      </p>
    )
  }
  const found = keys.value
  if (!found) return <p>{words.loading}</p>
  return (
    <>
      <p role="status">
        {found.length === 0 ? words.none : `${words.found(found.length)}${next.value ? ' …' : ''}`}
      </p>
      <ul aria-label={words.logs}>
        {found.map((key) => (
          <Log key={key} log={key} />
        ))}
      </ul>
      {next.value !== undefined && (
        <button type="button" class="btn" onClick={loadMore}>
          {words.more}
        </button>
      )}
    </>
  )
}

/** The chosen logs that the search has not found. */
function ChosenElsewhere() {
  const others = [...chosen.value].filter((key) => !keys.value?.includes(key))
  if (others.length === 0) return null
  return (
    <ul class="chosen">
      {others.map((key) => (
        <Log key={key} log={key} />
      ))}
    </ul>
  )
}

/** The page on which users choose the logs to show. */
export function Chooser() {
  useEffect(() => {
    const timer = setTimeout(() => searchLogs(search.value), keys.value ? SEARCH_MS : 0)
    remember()
    return () => clearTimeout(timer)
  }, [search.value])
  const { size } = chosen.value
  return (
    <>
      <header class="bar">
        <a class="brand" href={location.pathname}>
          <Brand />
        </a>
      </header>
      <main class="logs">
        <h1>{words.title}</h1>
        <label class="logs-search">
          <span>{words.search}</span>
          <input
            type="search"
            value={search.value}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => (search.value = event.currentTarget.value)}
          />
        </label>
        <ChosenElsewhere />
        <Found />
        {isFull.value && <p role="status">{words.limit(MAX_LOGS)}</p>}
        <div class="logs-actions">
          {size === 0 ? (
            <p>{words.choose}</p>
          ) : (
            <>
              <a class="btn main" href={pathOf(chosen.value)}>
                {words.show(size)}
              </a>
              <button
                type="button"
                class="btn quiet"
                onClick={() => {
                  chosen.value = new Set()
                  remember()
                }}
              >
                {words.clear}
              </button>
            </>
          )}
        </div>
      </main>
    </>
  )
}
