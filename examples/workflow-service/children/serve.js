/**
 * Answers the calls of the service, which is the parent process, until it disconnects. `actions` are
 * functions by name.
 */
export function serve(actions) {
  process.on('disconnect', () => process.exit(0))
  const answer = async ({ id, action, input }) => {
    try {
      process.send({ id, result: await actions[action](input) })
    } catch (error) {
      process.send({ id, error: String(error) })
    }
  }
  process.on('message', (call) => void answer(call))
  process.send({ id: 'ready' })
}
