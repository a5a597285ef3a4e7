from tests.reader.language import Book
BOOK = Book()
