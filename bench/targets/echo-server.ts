// Answers each message with its own bytes: what a message costs whoever receives it and answers. Tells its processor time
// to whoever started it, when it is asked.
import { createServer } from 'node:net'

createServer((socket) => {
  socket.setNoDelay(true)
  socket.on('data', (bytes) => socket.write(bytes))
  socket.on('error', () => socket.destroy())
}).listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('listening'))

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
