/** Storage of the browser; `undefined` if access throws, which can happen in frames of other sites. */
function openStorage(): Storage | undefined {
  try {
    return localStorage
  } catch {
    return undefined
  }
}

const storage = openStorage()

/** A text stored in this browser; null without a text or storage. */
export const readStored = (key: string): string | null => storage?.getItem(key) ?? null

export function store(key: string, text: string): void {
  storage?.setItem(key, text)
}
