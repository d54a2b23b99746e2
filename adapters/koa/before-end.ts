import type { ServerResponse } from 'node:http'

/**
 * Calls `task` once: with true when the response is about to end, which waits for the task; with false
 * when the connection closes before that. The response itself is not changed.
 */
export function beforeEnd(
  response: ServerResponse,
  task: (isAnswered: boolean) => Promise<void>,
): void {
  const end = response.end.bind(response) as (...content: unknown[]) => ServerResponse
  let running: Promise<void> | undefined
  const runOnce = (isAnswered: boolean): Promise<void> => (running ??= task(isAnswered))
  response.once('close', () => void runOnce(false))
  response.end = (...content: unknown[]) => {
    void runOnce(true).then(() => end(...content))
    return response
  }
}
