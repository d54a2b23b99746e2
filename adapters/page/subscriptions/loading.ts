import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import {
  type Channel,
  listChannels,
  listSubscriptions,
  may,
  rights,
  type Subscription,
} from '../data/managing.js'

/* The subscriptions and channels, loaded while they are shown. */

/** `undefined` until loaded, and if the user may not list them. */
export const subscriptions = signal<readonly Subscription[] | undefined>(undefined)
export const channels = signal<readonly Channel[] | undefined>(undefined)

/** The error of the last request for them. */
export const loadError = signal<Error | undefined>(undefined)

/** The latest call wins: an older response may lack a change. */
let latest = 0

export async function refresh(): Promise<void> {
  const call = ++latest
  try {
    const [newSubscriptions, newChannels] = await Promise.all([
      may('subscriptions:list') ? listSubscriptions() : undefined,
      may('notification_channels:list') ? listChannels() : undefined,
    ])
    if (call !== latest) return
    subscriptions.value = newSubscriptions
    channels.value = newChannels
    loadError.value = undefined
  } catch (error) {
    if (call === latest) loadError.value = error as Error
  }
}

const REFRESH_MS = 4000

/** Loads them now, and again while the page is visible. */
export function useRefreshing(): void {
  const areRightsKnown = rights.value !== undefined
  useEffect(() => {
    if (!areRightsKnown) return
    const refreshVisible = (): void => {
      if (document.visibilityState === 'visible') void refresh()
    }
    void refresh()
    const timer = setInterval(refreshVisible, REFRESH_MS)
    document.addEventListener('visibilitychange', refreshVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refreshVisible)
    }
  }, [areRightsKnown])
}
