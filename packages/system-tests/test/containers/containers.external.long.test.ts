// In one process, which builds the image once.
import './image-suite.ts'
import './new-operator-suite.ts'
