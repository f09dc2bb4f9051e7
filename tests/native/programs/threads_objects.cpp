// SPDX-License-Identifier: Apache-2.0
// Thread-local objects with constructors and destructors, and what C++ does at a thread's end: every
// thread must get objects of its own, each destroyed once.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

void check(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "%s\n", what);
    std::_Exit(1);
}

std::atomic<int> made{0}, ended{0};

struct Counted {
    std::string text;
    std::vector<int> numbers;

    Counted() : text("as constructed, in memory of its own"), numbers(3, 7)
    {
        ++made;
    }
    ~Counted()
    {
        check(text == "as left by its thread, in memory of its own" && numbers.size() == 5,
              "destroyed twice");
        ++ended;
    }
};

thread_local Counted counted;
thread_local std::vector<std::string> never_touched(100, "by most");
thread_local int plain = 3, zero;

void use(int number)
{
    check(plain == 3 && zero == 0, "a plain variable was found changed");
    check(counted.text == "as constructed, in memory of its own" && counted.numbers.size() == 3,
          "an object was found changed");
    plain = zero = number + 10;
    counted.text = "as left by its thread, in memory of its own";
    counted.numbers = {1, 2, 3, 4, 5};
}

void unwind(int depth)
{
    Counted local;

    local.text = "as left by its thread, in memory of its own";
    local.numbers.resize(5);
    if (depth == 0)
        pthread_exit(&made);
    unwind(depth - 1);
}

} // namespace

int main()
{
    constexpr int rounds = 60;
    std::once_flag once;
    int times = 0, expected = 0;

    for (int i = 0; i < rounds; i++) {
        std::thread one(use, i), other(use, i);
        one.join();
        other.join();
        expected += 2;
        check(made == expected && ended == expected, "an object was not made or not destroyed");

        check(std::async(
                  std::launch::async,
                  [i] {
                      use(i);
                      return i;
                  }).get() == i,
              "another result");
        while (ended != ++expected) { // it is destroyed after the result is there
            --expected;
            std::this_thread::yield();
        }

        auto failing = std::async(std::launch::async, [i] {
            use(i);
            throw std::runtime_error("out");
        });
        try {
            failing.get();
            check(false, "the exception was lost");
        } catch (const std::runtime_error &error) {
            check(std::string(error.what()) == "out", "another exception");
        }
        while (ended != ++expected) {
            --expected;
            std::this_thread::yield();
        }

        std::thread([&] { std::call_once(once, [&] { times++; }); }).join();
        check(times == 1, "called twice");

        pthread_t leaving;
        void *result;
        pthread_create(
            &leaving, nullptr,
            [](void *) -> void * {
                use(1);
                unwind(4);
                return nullptr;
            },
            nullptr);
        pthread_join(leaving, &result);
        expected += 6;
        check(result == &made && made == expected && ended == expected,
              "pthread_exit left objects behind");
    }
    return 0;
}
