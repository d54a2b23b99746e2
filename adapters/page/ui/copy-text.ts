import { showNote } from './notes.js'
import { texts } from './texts.js'

/** Copies to the clipboard. Over plain http the Clipboard API is unavailable, so this falls back to `execCommand`. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    showNote(texts.common.copied)
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'visually-hidden'
    document.body.append(field)
    field.select()
    const isCopied = document.execCommand('copy')
    field.remove()
    showNote(isCopied ? texts.common.copied : texts.common.notCopied)
  }
}
