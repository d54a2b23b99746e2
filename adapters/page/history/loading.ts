import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../data/api.js'
import { type History, type HistoryEntry, readHistory } from './read-history.js'

export type LoadState = 'loading' | 'ready' | 'denied' | 'failed'

/** A history as far as it is loaded, and the newest change of all. */
export interface LoadedHistory extends History {
  readonly newest: HistoryEntry | undefined
  /** The number of changes after the time of the request. */
  readonly later: number
}

const AS_OF = /(?:^|&)as_of=([^&]*)/

/** The time of the query string of a history; `undefined` for now. */
export function timeOf(query: string): string | undefined {
  const [, time] = AS_OF.exec(query) ?? []
  return time === undefined ? undefined : decodeURIComponent(time)
}

/** The query string for another time; `undefined` for now. */
export function atTime(query: string, time: string | undefined): string {
  const present = query.replace(AS_OF, '').replace(/^&/, '')
  return time === undefined ? present : `${present}&as_of=${time}`
}

async function load(query: string, signal: AbortSignal): Promise<LoadedHistory> {
  if (timeOf(query) === undefined) {
    const history = await readHistory(query, signal)
    return { ...history, newest: history.entries[0], later: 0 }
  }
  const [history, { entries, total }] = await Promise.all([
    readHistory(query, signal),
    readHistory(`${atTime(query, undefined)}&limit=1`, signal),
  ])
  return { ...history, newest: entries[0], later: total - history.total }
}

export interface HistoryLoading {
  readonly state: LoadState
  /** The history. While another time loads, the previous history. */
  readonly history: LoadedHistory | undefined
  readonly loadEarlier: () => Promise<void>
  readonly tryAgain: () => void
}

const stateOf = (error: unknown): LoadState =>
  error instanceof ApiError && error.status === 403 ? 'denied' : 'failed'

/** Loads the history whenever the query changes. */
export function useHistory(query: string): HistoryLoading {
  const [state, setState] = useState<LoadState>('loading')
  const [history, setHistory] = useState<LoadedHistory | undefined>(undefined)
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    setState('loading')
    const start = async (): Promise<void> => {
      setHistory(await load(query, controller.signal))
      setState('ready')
    }
    start().catch((error: unknown) => controller.signal.aborted || setState(stateOf(error)))
    return () => controller.abort()
  }, [query, attempt])

  async function loadEarlier(): Promise<void> {
    if (history?.earlier === undefined) return
    try {
      const { entries, earlier } = await readHistory(history.earlier, new AbortController().signal)
      // Another time may have been chosen meanwhile.
      setHistory((now) =>
        now === history ? { ...history, entries: [...history.entries, ...entries], earlier } : now,
      )
    } catch (error) {
      setState(stateOf(error))
    }
  }
  return { state, history, loadEarlier, tryAgain: () => setAttempt((count) => count + 1) }
}
