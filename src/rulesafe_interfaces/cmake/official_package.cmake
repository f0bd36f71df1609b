# For message packages that ROS 2 or the robot's manufacturer also provide: if the official package
# is installed, it is used and ours, with the same names and the same serialised form, is not built.
#
# A build of ours in a sourced workspace or in the virtual environment contains a marker file, so
# that it is not mistaken for the official package.

set(OUR_MARK "${CMAKE_CURRENT_LIST_DIR}/made_by_rulesafe")

function(find_official_package name result)
  set(${result} "" PARENT_SCOPE)
  set(prefixes "${CMAKE_PREFIX_PATH};$ENV{AMENT_PREFIX_PATH};$ENV{CMAKE_PREFIX_PATH}")
  string(REPLACE ":" ";" prefixes "${prefixes}")
  foreach(prefix IN LISTS prefixes)
    set(share "${prefix}/share/${name}")
    if(prefix AND EXISTS "${share}/package.xml" AND NOT EXISTS "${share}/made_by_rulesafe")
      set(${result} "${prefix}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Ends the calling CMakeLists.txt if the official package of its project is installed.
macro(return_if_official)
  find_official_package(${PROJECT_NAME} official)
  if(official)
    message(STATUS "the official ${PROJECT_NAME} in ${official} is used: nothing to build")
    install(CODE "message(STATUS \"the official ${PROJECT_NAME} is used: nothing to install\")")
    return()
  endif()
endmacro()
