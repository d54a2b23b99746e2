/** Browsers may refuse it to frames in pages of other sites, by an error on access. */
function openStorage(): Storage | undefined {
  try {
    return localStorage
  } catch {
    return undefined
  }
}

const storage = openStorage()

/** A text stored in this browser; null if there is none, or no storage. */
export const readStored = (key: string): string | null => storage?.getItem(key) ?? null

export function store(key: string, text: string): void {
  storage?.setItem(key, text)
}
