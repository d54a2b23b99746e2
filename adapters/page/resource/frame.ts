type FrameMessage =
  | { readonly type: 'daybook:size'; readonly height: number }
  | { readonly type: 'daybook:open'; readonly id: string }

/**
 * Sends a message to the page around the frame, if any. Only sites that the service allows can embed the frame
 * (`frame-ancestors`), so any origin may receive the message.
 */
export function tellFrame(message: FrameMessage): void {
  if (parent !== window) parent.postMessage(message, '*')
}
